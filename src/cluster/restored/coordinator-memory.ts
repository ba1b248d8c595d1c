/** What the node remembers of the coordinator; see StoreIdentity. */
export interface CoordinatorMemory {
  readonly storeId: string;
  readonly boots: number;
  readonly coordinator: { identity: string; version: number; restorations: number };
  setCoordinator(mark: { identity: string; version: number; restorations: number }): Promise<void>;
}
