/**
 * Links of AMQP 1.0 that are resumed, on rhea: `understudy-mq/resume`. Public clients do not resume by themselves; this does, and with it a
 * program sends and receives exactly once over failovers. Rhea's container is the program's: give it an id of its own, that stays.
 */
export type { ResumeOptions } from './link-life.js';
export type { RheaContainer } from './rhea.js';
export { type ReceiverOptions, type ResumedDelivery, ResumingReceiver } from './resuming-receiver.js';
export { ResumingSender, type SendOutcome } from './resuming-sender.js';
