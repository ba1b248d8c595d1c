import type { Lsn } from '../../log/lsn.js';
import { dequeueLengthMax, encodeDequeue, encodeEnqueue, enqueueLength, MessageParts } from '../../log/record.js';
import type { GroupAppender } from '../../model/group-port.js';
import { encodeObject, isDurable, type WiringObject } from '../../model/wiring/objects.js';
import type { WiringLog } from '../../model/wiring/sequencer.js';
import { wiringIncarnation } from '../replication/system-group.js';

/** Writes the wiring's events as records of the system group: objects are messages, their ends are dequeues. */
export class SystemLog implements WiringLog {
  private readonly appender: GroupAppender;
  private readonly parts = new MessageParts();

  constructor(appender: GroupAppender) {
    this.appender = appender;
  }

  create(object: WiringObject): Lsn {
    const { appender, parts } = this;
    const body = encodeObject(object);
    parts.persistent = isDurable(object);
    parts.bodyBytes = body;
    parts.bodyLength = body.length;
    appender.reserve(enqueueLength(parts, 1));
    const { bytes, view } = appender.chunk;
    return appender.append(
      encodeEnqueue(bytes!, view!, appender.offset, parts, [wiringIncarnation], isDurable(object), 0, 0),
    );
  }

  /** One record, so that a queue and its bindings end at once. */
  remove(positions: readonly Lsn[], durable: boolean): Lsn {
    const { appender } = this;
    appender.reserve(dequeueLengthMax(positions.length));
    const { bytes, view } = appender.chunk;
    return appender.append(
      encodeDequeue(bytes!, view!, appender.offset, wiringIncarnation, positions, positions.length, durable),
    );
  }
}
