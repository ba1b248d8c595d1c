import type { TerminusPort } from '../../src/model/terminus/port.js';

/** Of a broker whose links cannot be resumed. */
export const noTermini: TerminusPort = { attach: () => Promise.resolve(undefined) };
