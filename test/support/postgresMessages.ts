/** A message of the protocol of Postgres, version 3: a type, and what follows its length. */
export interface Message {
  readonly type: string;
  readonly body: Buffer;
}

/** A value as text; null is NULL. */
export type Field = string | null;

/** A column of an answer. */
export interface Column {
  readonly name: string;
  /** OID of its type. */
  readonly type: number;
}

const BYTES_OF_INT32 = 4;
/** The length of NULL. */
const NULL_LENGTH = -1;

/** A message as it is sent. Its length counts itself. That of the startup has no type. */
export function encoded({ type, body }: Message): Buffer {
  const head = Buffer.alloc(type.length + BYTES_OF_INT32);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + BYTES_OF_INT32, type.length);
  return Buffer.concat([head, body]);
}

/** Cuts what arrives into messages. */
export class MessageReader {
  private rest: Buffer = Buffer.alloc(0);

  /** `startup`: the first message has no type. */
  constructor(private startup: boolean) {}

  /** The messages that are complete now. That of the startup has an empty type. */
  take(chunk: Buffer): Message[] {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const found: Message[] = [];
    for (let next = this.next(); next; next = this.next()) found.push(next);
    return found;
  }

  private next(): Message | undefined {
    const begin = this.startup ? 0 : 1;
    if (this.rest.length < begin + BYTES_OF_INT32) return undefined;
    const end = begin + this.rest.readInt32BE(begin);
    if (this.rest.length < end) return undefined;
    const type = this.startup ? '' : this.rest.toString('latin1', 0, 1);
    const body = this.rest.subarray(begin + BYTES_OF_INT32, end);
    this.rest = this.rest.subarray(end);
    this.startup = false;
    return { type, body };
  }
}

/** Reads a body from its beginning. */
class BodyReader {
  private at = 0;

  constructor(private readonly body: Buffer) {}

  int16(): number {
    this.at += 2;
    return this.body.readInt16BE(this.at - 2);
  }

  int32(): number {
    this.at += BYTES_OF_INT32;
    return this.body.readInt32BE(this.at - BYTES_OF_INT32);
  }

  /** Up to a zero byte. */
  text(): string {
    const end = this.body.indexOf(0, this.at);
    const text = this.body.toString('utf8', this.at, end);
    this.at = end + 1;
    return text;
  }

  field(): Field {
    const length = this.int32();
    if (length === NULL_LENGTH) return null;
    this.at += length;
    return this.body.toString('utf8', this.at - length, this.at);
  }

  many<T>(read: () => T): T[] {
    return Array.from({ length: this.int16() }, read);
  }

  left(): Buffer {
    return this.body.subarray(this.at);
  }
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function fieldBytes(field: Field): Buffer {
  const text = Buffer.from(field ?? '', 'utf8');
  const length = Buffer.alloc(BYTES_OF_INT32);
  length.writeInt32BE(field === null ? NULL_LENGTH : text.length);
  return Buffer.concat([length, text]);
}

function textBytes(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf8');
}

/** What a message RowDescription says of its columns. */
export function readColumns(body: Buffer): Column[] {
  const reader = new BodyReader(body);
  return reader.many(() => {
    const name = reader.text();
    // Table and number of the column.
    reader.int32();
    reader.int16();
    const type = reader.int32();
    // Size, modifier and format of the type.
    reader.int16();
    reader.int32();
    reader.int16();
    return { name, type };
  });
}

/** The fields of a DataRow. */
export function readRow(body: Buffer): Field[] {
  const reader = new BodyReader(body);
  return reader.many(() => reader.field());
}

/** A DataRow. */
export function rowMessage(fields: readonly Field[]): Message {
  return { type: 'D', body: Buffer.concat([int16(fields.length), ...fields.map(fieldBytes)]) };
}

/** What a message Bind gives a statement: its parameters in text. Throws for binary ones. */
interface Binding {
  readonly statement: string;
  readonly parameters: readonly Field[];
}

function bindParts(body: Buffer) {
  const reader = new BodyReader(body);
  const portal = reader.text();
  const statement = reader.text();
  const formats = reader.many(() => reader.int16());
  const parameters = reader.many(() => reader.field());
  return { portal, statement, formats, parameters, results: reader.left() };
}

/** Reads a Bind whose parameters are text. Throws for binary ones. */
export function readBinding(body: Buffer): Binding {
  const { statement, formats, parameters } = bindParts(body);
  if (formats.some((format) => format !== 0)) throw new Error(`${statement} has binary parameters`);
  return { statement, parameters };
}

/** The same Bind with other parameters. */
export function rebound(body: Buffer, parameters: readonly Field[]): Message {
  const { portal, statement, formats, results } = bindParts(body);
  return {
    type: 'B',
    body: Buffer.concat([
      textBytes(portal),
      textBytes(statement),
      int16(formats.length),
      ...formats.map(int16),
      int16(parameters.length),
      ...parameters.map(fieldBytes),
      results,
    ]),
  };
}

/** Name and text of a statement in a message Parse. */
export function readParse(body: Buffer): { readonly name: string; readonly text: string } {
  const reader = new BodyReader(body);
  return { name: reader.text(), text: reader.text() };
}

/** The text of a message that is one text: Query, CommandComplete. */
export function readText(body: Buffer): string {
  return new BodyReader(body).text();
}

/** A message that is one text. */
export function textMessage(type: string, text: string): Message {
  return { type, body: textBytes(text) };
}
