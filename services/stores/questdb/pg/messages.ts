/**
 * The part of the PostgreSQL protocol, version 3, that a reader needs. Results come in binary: printing and parsing
 * doubles as text makes other methods three to five times as slow.
 */
const protocolVersion = 196_608
const textFormat = 0
const binaryFormat = 1

export const received = {
  authentication: 0x52, // R
  dataRow: 0x44, // D
  error: 0x45, // E
  ready: 0x5a, // Z
} as const

/** Sub-types of `authentication`. */
export const authenticated = 0
export const wantsPassword = 3

const cstring = (text: string): Buffer => Buffer.from(`${text}\0`)
const int32 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeInt32BE(value)
  return bytes
}
const int16 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(2)
  bytes.writeInt16BE(value)
  return bytes
}

const message = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const length = parts.reduce((sum, part) => sum + part.length, 4)
  return Buffer.concat([Buffer.from(type), int32(length), ...parts])
}

export const startup = (user: string, database: string): Buffer => {
  const body = cstring(`user\0${user}\0database\0${database}\0`)
  return Buffer.concat([int32(8 + body.length), int32(protocolVersion), body])
}

export const password = (secret: string): Buffer => message('p', cstring(secret))

/** The server infers the types of parameters. */
export const parse = (name: string, sql: string): Buffer =>
  message('P', cstring(name), cstring(sql), int16(0))

/** Result columns are binary; with `asText` all columns are text. */
export function bindAndExecute(name: string, parameters: readonly string[], asText: boolean): Buffer {
  const values = parameters.flatMap((parameter) => {
    const bytes = Buffer.from(parameter)
    return [int32(bytes.length), bytes]
  })
  const formats = [int16(1), int16(textFormat), int16(parameters.length)]
  const bind = message(
    'B',
    cstring(''),
    cstring(name),
    ...formats,
    ...values,
    int16(1),
    int16(asText ? textFormat : binaryFormat),
  )
  return Buffer.concat([bind, message('E', cstring(''), int32(0))])
}

export const sync = (): Buffer => message('S')
export const closeStatement = (name: string): Buffer => message('C', Buffer.from('S'), cstring(name))

/** The code and the message of an error; its other fields are ignored. */
export function errorFields(data: Buffer): { readonly code: string; readonly text: string } {
  const fields = new Map<string, string>()
  for (const field of data.toString().split('\0')) fields.set(field.slice(0, 1), field.slice(1))
  return { code: fields.get('C') ?? '', text: fields.get('M') ?? 'no reason given' }
}
