import { type Admission, AdmissionState } from '../../src/model/admission.js';

/** An admission that a test changes. */
export class FakeAdmission implements Admission {
  state: AdmissionState = AdmissionState.serving;
  list: string[] = [];
  /** Over TLS. */
  secureList: string[] = [];
  private address = '';
  private readonly listeners: Set<() => void> = new Set();

  set(state: AdmissionState, primary: string = this.address): void {
    this.state = state;
    this.address = primary;
    for (const listener of [...this.listeners]) listener();
  }

  primary(): string {
    return this.address;
  }

  addresses(secure: boolean): string[] {
    return secure ? this.secureList : this.list;
  }

  onChange(listener: () => void): { close(): void } {
    this.listeners.add(listener);
    return { close: () => void this.listeners.delete(listener) };
  }
}
