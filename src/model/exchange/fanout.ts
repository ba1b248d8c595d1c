import type { BindingObject } from '../wiring/objects.js';
import type { Matcher, Reached } from './matcher.js';
import type { Target } from './target.js';
import { TargetSet } from './target-set.js';

/** Every binding matches (AMQP 0-9-1 §3.1.3.2). */
export class FanoutMatcher implements Matcher {
  private readonly targets = new TargetSet();

  add(_binding: BindingObject, target: Target): void {
    this.targets.add(target);
  }

  remove(_binding: BindingObject, target: Target): void {
    this.targets.remove(target);
  }

  match(_routingKey: string, reached: Reached): void {
    this.targets.reach(reached);
  }
}
