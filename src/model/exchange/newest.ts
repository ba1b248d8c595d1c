/**
 * What has a name. Committed wiring has at most one object of a name at a time; while a node joins or recovers, a predecessor
 * may be seen beside it, in any order. The youngest counts.
 */
export class Newest<T extends { readonly position: number }> {
  current: T | undefined = undefined;
  private older: T[] | undefined = undefined;

  add(object: T): void {
    if (this.current === undefined) {
      this.current = object;
      return;
    }
    this.older ??= [];
    if (object.position > this.current.position) {
      this.older.push(this.current);
      this.current = object;
    } else this.older.push(object);
  }

  /** Everything that has the name, in no particular order. */
  all(): readonly T[] {
    if (this.current === undefined) return [];
    return this.older === undefined ? [this.current] : [this.current, ...this.older];
  }

  remove(object: T): void {
    if (this.current !== object) {
      this.older = this.older?.filter((other) => other !== object);
      return;
    }
    this.current = undefined;
    const older = this.older;
    this.older = undefined;
    for (const other of older ?? []) this.add(other);
  }
}

/** Into a table by name. */
export function addNamed<T extends { readonly name: string; readonly position: number }>(
  names: Map<string, Newest<T>>,
  object: T,
): void {
  let named = names.get(object.name);
  if (named === undefined) {
    named = new Newest();
    names.set(object.name, named);
  }
  named.add(object);
}

export function removeNamed<T extends { readonly name: string; readonly position: number }>(
  names: Map<string, Newest<T>>,
  object: T,
): void {
  const named = names.get(object.name);
  named?.remove(object);
  if (named?.current === undefined) names.delete(object.name);
}
