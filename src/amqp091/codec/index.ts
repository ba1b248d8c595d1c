/**
 * The AMQP 0-9-1 codec: bytes to and from methods, headers and bodies. It knows nothing of connections or channels.
 *
 * Input. A `FrameParser` is fed whatever the socket gives and calls its `FrameHandler` once per frame with a range of bytes
 * that is valid during the call only. The handler then picks a decoder:
 *
 *   method frame   `methodIdAt` tells which. The hot ones have views without objects: `PublishView.set`, `AckView.set`.
 *                  All others: `decodeMethod` makes an object of a generated class; switch on its `id` (see `MethodId`).
 *   header frame   `ContentHeader.set` checks everything and gives body size, delivery mode, priority, expiration. The bytes
 *                  behind `contentHeaderFixedBytes` are what a message stores as its header, untouched; a `PropertyView` can
 *                  be set to them again at any time, to decode headers or all properties when somebody asks.
 *   body frame     the bytes are the body.
 *
 * Output. A `FrameWriter` appends frames to a `ByteWriter`: `method` for objects, `deliver`, `getOk`, `returned`, `ack`, `nack`
 * for the hot path, straight from a stored message's parts. Once per turn the connection takes `output.take()`, writes it to
 * the socket and gives it back with `output.recycle()` when it has been written.
 *
 * Limits. Both sides have a `frameMax`, 4096 until tuned. The parser refuses a larger frame before it keeps a byte of it; tables
 * are bounded in depth and number of values; strings by their lengths, lengths by the frame.
 *
 * Errors. Whatever a peer sends, the outcome is a frame or a `ProtocolError` with its reply code: 501 no frame, 502 no
 * sense in a method or header, 503 no such method, 505 a header of a class that has no content, 506 too much while paused. Whether a
 * frame is due on its channel just now (505, 504) is for the connection to say. `EncodeError` is the broker's own mistake.
 *
 * Everything in generated/ comes from tools/codegen/amqp091.json; a test compares. Field tables, strings, frames, the content
 * header and the hot methods are by hand. Layouts stand at the head of each file.
 */
export { DecodeError, EncodeError } from '../../wire/decode-error.js';
export { ContentHeader, contentHeaderFixedBytes } from './content-header.js';
export { DeliverTemplate } from './deliver-template.js';
export {
  copyFields,
  findField,
  RoutingField,
  readTable,
  readTableFields,
  skipTable,
  tableDepthMax,
  tableValuesMax,
  writeTable,
} from './field-table.js';
export { type FrameHandler, FrameParser, frameOverheadBytes } from './frame-parser.js';
export { FrameWriter } from './frame-writer.js';
export { ClassId, clientMethods, expectsContent, Frame, MethodId, methodName } from './generated/ids.js';
export * from './generated/methods.js';
export { BasicProperties, PropertyFlag } from './generated/properties.js';
export { isHardError, ReplyCode, replyCodeName } from './generated/reply-codes.js';
export { AckView, PublishView } from './hot-methods.js';
export { decodeMethod, methodIdAt } from './method.js';
export { PropertyView } from './property-view.js';
export { ProtocolError } from './protocol-error.js';
export { beginsLikeAmqp, isSupportedHeader, protocolHeader, protocolHeaderBytes } from './protocol-header.js';
export { fitShortString, shortStringBytesMax } from './strings.js';
