import { ConfirmGate } from './confirm-gate.js';

/** What the broker itself passes on is safe when as many replicas have it as its queue wants of publishes; until then it is waited for, however long. */
export class PatientGate extends ConfirmGate {
  override get timeoutMs(): number {
    return 0;
  }

  override get isRefusing(): boolean {
    return false;
  }
}
