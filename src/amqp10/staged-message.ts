import { MessageParts } from '../log/record.js';
import type { Arguments, Properties } from '../model/broker.js';
import type { TransactionMessage } from '../model/transaction.js';
import { MessageView } from './codec/index.js';
import { headersOf, propertyText } from './header-codec.js';

/** A message that is published when its transaction commits. */
export class StagedMessage implements TransactionMessage {
  readonly exchange: string;
  readonly routingKey: string;
  readonly moreKeys: readonly string[] | undefined;
  readonly parts: MessageParts;

  /** `parts`, whose body lies behind their header, are copied. */
  constructor(exchange: string, routingKey: string, moreKeys: readonly string[], parts: MessageParts) {
    this.exchange = exchange;
    this.routingKey = routingKey;
    this.moreKeys = moreKeys.length === 0 ? undefined : moreKeys;
    this.parts = new MessageParts();
    this.parts.setTo(parts);
    this.parts.setMeta(parts.metaBytes.slice(parts.metaStart, parts.metaStart + parts.metaLength));
    const bytes = parts.headerBytes.slice(parts.headerStart, parts.bodyStart + parts.bodyLength);
    this.parts.headerBytes = bytes;
    this.parts.headerStart = 0;
    this.parts.bodyBytes = bytes;
    this.parts.bodyStart = parts.headerLength;
  }

  get bytes(): number {
    const { metaLength, headerLength, bodyLength } = this.parts;
    return metaLength + headerLength + bodyLength;
  }

  headers(): Arguments {
    return headersOf(this.view());
  }

  readonly property: Properties = (name) => propertyText(this.view(), name);

  private view(): MessageView {
    const { bodyBytes } = this.parts;
    return new MessageView().set(bodyBytes, 0, bodyBytes.length);
  }
}
