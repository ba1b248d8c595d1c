/** What the process uses of the machine's memory: a port, since the process is not there in the simulator. */
export interface MemoryMeter {
  /** Bytes in use; what could be collected as garbage is among them. */
  usedBytes(): number;
  /** Has garbage collected soon: a process that stands still makes none, and so collects none. */
  collect(): void;
}
