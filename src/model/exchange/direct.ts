import type { BindingObject } from '../wiring/objects.js';
import type { Matcher, Reached } from './matcher.js';
import type { Target } from './target.js';
import { TargetSet } from './target-set.js';

/** Routing key = binding key (AMQP 0-9-1 §3.1.3.1). */
export class DirectMatcher implements Matcher {
  private readonly byKey = new Map<string, TargetSet>();

  add(binding: BindingObject, target: Target): void {
    let set = this.byKey.get(binding.routingKey);
    if (set === undefined) {
      set = new TargetSet();
      this.byKey.set(binding.routingKey, set);
    }
    set.add(target);
  }

  remove(binding: BindingObject, target: Target): void {
    const set = this.byKey.get(binding.routingKey);
    if (set === undefined) return;
    set.remove(target);
    if (set.size === 0) this.byKey.delete(binding.routingKey);
  }

  match(routingKey: string, reached: Reached): void {
    this.byKey.get(routingKey)?.reach(reached);
  }
}
