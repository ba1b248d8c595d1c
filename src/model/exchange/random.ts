import type { BindingObject } from '../wiring/objects.js';
import type { Matcher, Reached } from './matcher.js';
import type { Target } from './target.js';
import { TargetSet } from './target-set.js';

/** `x-random`: one of the targets, by chance, whatever the keys. */
export class RandomMatcher implements Matcher {
  readonly picksOne = true;
  private readonly targets = new TargetSet();

  add(_binding: BindingObject, target: Target): void {
    this.targets.add(target);
  }

  remove(_binding: BindingObject, target: Target): void {
    this.targets.remove(target);
  }

  match(_routingKey: string, reached: Reached): void {
    const { targets } = this;
    if (targets.size > 0) reached.reach(targets.at(reached.chance(targets.size)));
  }
}
