import type { BindingObject } from '../wiring/objects.js';
import { hashText, mixHashes } from './hash.js';
import type { Matcher, Reached } from './matcher.js';
import type { Target } from './target.js';
import { TargetSet } from './target-set.js';

/**
 * `x-modulus-hash`: one of the targets, the same one for the same routing key, as long as no target comes or goes. Binding keys do
 * not matter.
 */
export class ModulusHashMatcher implements Matcher {
  readonly picksOne = true;
  private readonly targets = new TargetSet();
  /** By kind and name, so that all nodes say the same; made again when it is asked for after a change. */
  private ordered: readonly Target[] | undefined;

  add(_binding: BindingObject, target: Target): void {
    this.targets.add(target);
    this.ordered = undefined;
  }

  remove(_binding: BindingObject, target: Target): void {
    this.targets.remove(target);
    this.ordered = undefined;
  }

  match(routingKey: string, reached: Reached): void {
    const ordered = (this.ordered ??= this.targets.inOrder());
    if (ordered.length > 0) reached.reach(ordered[mixHashes(hashText(routingKey), 0) % ordered.length]!);
  }
}
