// Generated from tools/codegen/amqp10/definition.json by tools/codegen/main.ts. Do not edit.
/** The bodies of SASL frames (§5.3.3). */
import type { FieldReader } from '../field-reader.js';
import type { ListWriter } from '../list-writer.js';
import { Descriptor } from './descriptors.js';

const nothing = new Uint8Array(0);

const saslMechanismsFields = ['sasl-server-mechanisms'] as const;

/** sasl-mechanisms */
export class SaslMechanisms {
  readonly descriptor: typeof Descriptor.saslMechanisms = Descriptor.saslMechanisms;
  saslServerMechanisms: string[] = [];

  static decode(fields: FieldReader): SaslMechanisms {
    fields.expect('sasl-mechanisms', saslMechanismsFields);
    const it = new SaslMechanisms();
    it.saslServerMechanisms = fields.symbols() ?? fields.missing();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.saslMechanisms);
    writer.symbols(this.saslServerMechanisms);
    writer.end();
  }
}

const saslInitFields = ['mechanism', 'initial-response', 'hostname'] as const;

/** sasl-init */
export class SaslInit {
  readonly descriptor: typeof Descriptor.saslInit = Descriptor.saslInit;
  mechanism: string = '';
  initialResponse: Uint8Array | undefined = undefined;
  hostname: string | undefined = undefined;

  static decode(fields: FieldReader): SaslInit {
    fields.expect('sasl-init', saslInitFields);
    const it = new SaslInit();
    it.mechanism = fields.symbol() ?? fields.missing();
    it.initialResponse = fields.binary();
    it.hostname = fields.string();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.saslInit);
    writer.symbol(this.mechanism);
    writer.binary(this.initialResponse);
    writer.string(this.hostname);
    writer.end();
  }
}

const saslChallengeFields = ['challenge'] as const;

/** sasl-challenge */
export class SaslChallenge {
  readonly descriptor: typeof Descriptor.saslChallenge = Descriptor.saslChallenge;
  challenge: Uint8Array = nothing;

  static decode(fields: FieldReader): SaslChallenge {
    fields.expect('sasl-challenge', saslChallengeFields);
    const it = new SaslChallenge();
    it.challenge = fields.binary() ?? fields.missing();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.saslChallenge);
    writer.binary(this.challenge);
    writer.end();
  }
}

const saslResponseFields = ['response'] as const;

/** sasl-response */
export class SaslResponse {
  readonly descriptor: typeof Descriptor.saslResponse = Descriptor.saslResponse;
  response: Uint8Array = nothing;

  static decode(fields: FieldReader): SaslResponse {
    fields.expect('sasl-response', saslResponseFields);
    const it = new SaslResponse();
    it.response = fields.binary() ?? fields.missing();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.saslResponse);
    writer.binary(this.response);
    writer.end();
  }
}

const saslOutcomeFields = ['code', 'additional-data'] as const;

/** sasl-outcome */
export class SaslOutcome {
  readonly descriptor: typeof Descriptor.saslOutcome = Descriptor.saslOutcome;
  code: number = 0;
  additionalData: Uint8Array | undefined = undefined;

  static decode(fields: FieldReader): SaslOutcome {
    fields.expect('sasl-outcome', saslOutcomeFields);
    const it = new SaslOutcome();
    it.code = fields.ubyte() ?? fields.missing();
    it.additionalData = fields.binary();
    fields.finish();
    return it;
  }

  encode(writer: ListWriter): void {
    writer.begin(Descriptor.saslOutcome);
    writer.ubyte(this.code);
    writer.binary(this.additionalData);
    writer.end();
  }
}

export type SaslPerformative = SaslMechanisms | SaslInit | SaslChallenge | SaslResponse | SaslOutcome;

/** Reads the list behind the descriptor `code`; undefined if that is no SaslPerformative. Throws as FieldReader. */
export function decodeSaslPerformative(code: number, fields: FieldReader): SaslPerformative | undefined {
  switch (code) {
    case Descriptor.saslMechanisms:
      return SaslMechanisms.decode(fields);
    case Descriptor.saslInit:
      return SaslInit.decode(fields);
    case Descriptor.saslChallenge:
      return SaslChallenge.decode(fields);
    case Descriptor.saslResponse:
      return SaslResponse.decode(fields);
    case Descriptor.saslOutcome:
      return SaslOutcome.decode(fields);
    default:
      return undefined;
  }
}
