import { connect, constants } from 'node:http2'
import { testToken } from '../fixtures/ingest-fixture.ts'

export interface RawCall {
  readonly path: string
  /** Payload of the message; absent: the stream ends without a message. */
  readonly body?: Buffer
  /** The compressed flag of the message. */
  readonly compressed?: boolean
  /** The length in the header of the message; default: the real length. */
  readonly length?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** The end of a call: gRPC status (a number) and message, or `undefined` if the connection was cut. */
export interface RawEnd {
  readonly status: string | undefined
  readonly message: string | undefined
  readonly http: number | undefined
}

/** Makes a gRPC call without the library, so that it may be malformed. */
export async function rawCall(address: string, call: RawCall): Promise<RawEnd> {
  const connection = connect(`http://${address}`)
  connection.on('error', () => undefined)
  const stream = connection.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: call.path,
    'content-type': 'application/grpc+proto',
    te: 'trailers',
    authorization: `Bearer ${testToken}`,
    ...call.headers,
  })
  let end: RawEnd = { status: undefined, message: undefined, http: undefined }
  const readHeaders = (headers: Record<string, unknown>): void => {
    const text = (name: string): string | undefined =>
      headers[name] === undefined ? undefined : String(headers[name])
    end = {
      status: text('grpc-status') ?? end.status,
      message: text('grpc-message') ?? end.message,
      http: headers[':status'] === undefined ? end.http : Number(headers[':status']),
    }
  }
  stream.on('response', readHeaders)
  stream.on('trailers', readHeaders)
  stream.on('error', () => undefined)
  stream.resume()
  if (call.body) {
    const head = Buffer.alloc(5)
    head.writeUInt8(call.compressed === true ? 1 : 0, 0)
    head.writeUInt32BE(call.length ?? call.body.length, 1)
    stream.write(Buffer.concat([head, call.body]))
  }
  stream.end()
  await new Promise<void>((resolve) => void stream.once('close', resolve))
  connection.destroy()
  return end
}
