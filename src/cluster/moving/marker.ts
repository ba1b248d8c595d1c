/**
 * A node's word, put into a queue that moves behind all that the node has published to it: nothing more comes. The mover takes it out;
 * no client ever sees one.
 */
import { MessageParts } from '../../log/record.js';
import { markerFormat } from '../../model/group-service/marker-format.js';

export function marker(): MessageParts {
  const parts = new MessageParts();
  parts.format = markerFormat;
  parts.metaBytes = noNames;
  parts.metaLength = noNames.length;
  return parts;
}

/** An empty exchange and an empty routing key. */
const noNames = new Uint8Array(2);
