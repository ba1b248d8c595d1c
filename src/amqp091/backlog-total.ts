import { Pause } from '../socket/input-gate.js';

/** What the input can do. */
interface Pausable {
  isPausedBy(why: Pause): boolean;
  pause(why: Pause): void;
  unpause(why: Pause): void;
}

/** Bytes of frames that wait on all channels of a connection; above a limit its socket is not read. */
export class BacklogTotal {
  private readonly input: Pausable;
  private readonly bytesMax: number;
  private bytes = 0;

  constructor(input: Pausable, bytesMax: number) {
    this.input = input;
    this.bytesMax = bytesMax;
  }

  /** Frames that wait on a channel have grown by `bytes`. */
  changed(bytes: number): void {
    const { input, bytesMax } = this;
    this.bytes += bytes;
    const held = input.isPausedBy(Pause.backlogs);
    if (!held && this.bytes >= bytesMax) input.pause(Pause.backlogs);
    else if (held && this.bytes * 2 < bytesMax) input.unpause(Pause.backlogs);
  }
}
