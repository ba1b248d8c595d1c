import { ConfirmGate } from '../client/confirm-gate.js';

/** What moves is safe when as many replicas have it as its queue wants of publishes; until then it is waited for, however long. */
export class MoveGate extends ConfirmGate {
  override get timeoutMs(): number {
    return 0;
  }

  override get isRefusing(): boolean {
    return false;
  }
}
