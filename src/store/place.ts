/** A place in the journal. Later frames lie at later places. */
export type Place = readonly [segment: number, offset: number];

/** Does offset `offset` of segment `segment` lie before the place? */
export function isBefore(segment: number, offset: number, place: Place): boolean {
  return segment < place[0] || (segment === place[0] && offset < place[1]);
}
