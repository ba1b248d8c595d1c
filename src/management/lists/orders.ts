/** The orders that lists have of themselves. */
import type { BindingView } from '../describe.js';
import { compareTexts } from '../sorted.js';

interface Named {
  readonly vhost: string;
  readonly name: string;
}

export function byVhostAndName(a: Named, b: Named): number {
  return compareTexts(a.vhost, b.vhost) || compareTexts(a.name, b.name);
}

export function byNameAlone(a: Pick<Named, 'name'>, b: Pick<Named, 'name'>): number {
  return compareTexts(a.name, b.name);
}

export function byVhostAndUser(
  a: { readonly vhost: string; readonly user: string },
  b: { readonly vhost: string; readonly user: string },
): number {
  return compareTexts(a.vhost, b.vhost) || compareTexts(a.user, b.user);
}

export function byEnds(a: BindingView, b: BindingView): number {
  return (
    compareTexts(a.vhost, b.vhost) ||
    compareTexts(a.source, b.source) ||
    compareTexts(a.destinationKind, b.destinationKind) ||
    compareTexts(a.destination, b.destination) ||
    compareTexts(a.routingKey, b.routingKey)
  );
}
