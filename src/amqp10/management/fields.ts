/** The maps that requests have as body, and answers. */
import { toArguments, toValue } from '../../conversion/values.js';
import type { Arguments, Binding, QueueStatus } from '../../model/broker.js';
import { ArrayValue, MapValue, Scalar, textOf, type Value } from '../codec/values.js';
import { badRequest } from './management-error.js';
import { bindingPath } from './path.js';

/** The fields of a body, each of a known name. Throws ManagementError 400. */
export class Fields {
  private readonly fields: ReadonlyMap<string, Value>;
  private readonly what: string;

  constructor(body: Value, what: string, names: readonly string[]) {
    if (!(body instanceof MapValue)) throw badRequest(`the body of ${what} is a map`);
    this.what = what;
    this.fields = new Map(
      body.entries.map(([key, value]) => {
        const name = textOf(key);
        if (name === undefined || !names.includes(name))
          throw badRequest(`${what} has no field ${name ?? ''}: ${names.join(', ')} are known`);
        return [name, value];
      }),
    );
  }

  has(name: string): boolean {
    return this.fields.has(name);
  }

  flag(name: string, otherwise: boolean): boolean {
    const value = this.fields.get(name) ?? otherwise;
    if (typeof value !== 'boolean') throw badRequest(`${name} of ${this.what} is true or false`);
    return value;
  }

  text(name: string, otherwise?: string): string {
    const value = this.fields.get(name) ?? otherwise;
    if (typeof value !== 'string') throw badRequest(`${name} of ${this.what} is a text`);
    return value;
  }

  table(): Arguments {
    const value = this.fields.get('arguments') ?? null;
    if (value === null) return {};
    if (!(value instanceof MapValue)) throw badRequest(`arguments of ${this.what} are a map`);
    return toArguments(value);
  }
}

function map(fields: Readonly<Record<string, Value>>): MapValue {
  return new MapValue(Object.entries(fields));
}

/** Keys of clients are strings, not symbols. */
function argumentMap(table: Arguments): MapValue {
  return new MapValue(Object.entries(table).map(([name, value]) => [name, toValue(value)]));
}

export function describeQueue(queue: QueueStatus): Value {
  const { name, vhost, durable, exclusive, autoDelete, messages, consumers, leader, members } = queue;
  const type = queue.arguments['x-queue-type'];
  return map({
    name,
    vhost,
    durable,
    exclusive,
    auto_delete: autoDelete,
    type: typeof type === 'string' ? type : 'classic',
    arguments: argumentMap(queue.arguments),
    message_count: new Scalar('ulong', BigInt(messages)),
    consumer_count: new Scalar('uint', consumers),
    replicas: new ArrayValue('string', members),
    ...(leader === '' ? {} : { leader }),
  });
}

export function describeBinding(binding: Binding): Value {
  const { source, destination, destinationKind, routingKey } = binding;
  return map({
    source,
    [`destination_${destinationKind}`]: destination,
    binding_key: routingKey,
    arguments: argumentMap(binding.arguments),
    location: bindingPath(binding),
  });
}

export function messageCount(count: number): Value {
  return map({ message_count: new Scalar('ulong', BigInt(count)) });
}
