/**
 * The codec of AMQP 1.0: bytes to frames to performatives and messages, and back.
 *
 *   socket ──► FrameParser ──► performativeAt: transfer, disposition, flow ──► their views (hot-performatives)
 *                         └──► all others ──► decodePerformative: objects (generated from tools/codegen/amqp10)
 *   transfer's payload ──► MessageView: where its sections lie; nothing is decoded that nobody asks for
 *   FrameWriter ──► transfers (whose payload is the record's bytes), dispositions, flows, any performative
 *
 * Whatever comes is bounded: a frame by max-frame-size, a value by its depth and count (value-reader). What makes no sense is an AmqpError
 * with the condition that the specification has for it.
 */
export { AmqpError, decodeFailure } from './amqp-error.js';
export { coordinatorMessageIn } from './coordinator-message.js';
export { FrameParser, type FrameHandler, FrameType, frameMaxLeast } from './frame-parser.js';
export { FrameWriter, positionTagBytes, type TransferHead } from './frame-writer.js';
export { Condition } from './generated/conditions.js';
export { Descriptor, descriptorName } from './generated/descriptors.js';
export * from './generated/performatives.js';
export * from './generated/sasl.js';
export * from './generated/sections.js';
export * from './generated/states.js';
export * from './generated/terminus.js';
export * from './generated/transactions.js';
export { DispositionView, FlowView, StateKind, stateAt, TransferView } from './hot-performatives.js';
export { absent } from './hot-reader.js';
export { dataAt, forEachData, MessageView } from './message-view.js';
export { decodePerformative, decodeSasl, inUsualForm, performativeAt } from './performative.js';
export { ProtocolId, protocolHeaderBytes, protocolIdAt } from './protocol-header.js';
export * from './values.js';
