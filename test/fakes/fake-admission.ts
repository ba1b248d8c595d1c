import { type Admission, AdmissionState } from '../../src/model/admission.js';

/** An admission that a test changes. */
export class FakeAdmission implements Admission {
  state: AdmissionState = AdmissionState.serving;
  primary = '';
  list: string[] = [];
  private readonly listeners: Set<() => void> = new Set();

  set(state: AdmissionState, primary: string = this.primary): void {
    this.state = state;
    this.primary = primary;
    for (const listener of [...this.listeners]) listener();
  }

  addresses(): string[] {
    return this.list;
  }

  onChange(listener: () => void): { close(): void } {
    this.listeners.add(listener);
    return { close: () => void this.listeners.delete(listener) };
  }
}
