import { fieldMap, type MapValue } from '../codec/index.js';

/** Both links of a pair say that they are one. */
export const pairProperties: MapValue = fieldMap({ paired: true });
