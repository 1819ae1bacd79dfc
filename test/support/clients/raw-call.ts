import { connect, constants } from 'node:http2'
import { houseToken } from '../fixtures/ingest-fixture.ts'

export interface RawCall {
  readonly path: string
  /** Of the one message; absent: the stream ends without any. */
  readonly body?: Buffer
  /** The first byte of the message. */
  readonly compressed?: boolean
  /** What the message says its length is. */
  readonly length?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** How it ended: the gRPC status as a number and its sentence, or `undefined` when the connection was cut. */
export interface RawEnd {
  readonly status: string | undefined
  readonly message: string | undefined
  readonly http: number | undefined
}

/** One gRPC call, frame by frame, as no library would make it. */
export async function rawCall(address: string, call: RawCall): Promise<RawEnd> {
  const connection = connect(`http://${address}`)
  connection.on('error', () => undefined)
  const stream = connection.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: call.path,
    'content-type': 'application/grpc+proto',
    te: 'trailers',
    authorization: `Bearer ${houseToken}`,
    ...call.headers,
  })
  let end: RawEnd = { status: undefined, message: undefined, http: undefined }
  const told = (headers: Record<string, unknown>): void => {
    const text = (name: string): string | undefined =>
      headers[name] === undefined ? undefined : String(headers[name])
    end = {
      status: text('grpc-status') ?? end.status,
      message: text('grpc-message') ?? end.message,
      http: headers[':status'] === undefined ? end.http : Number(headers[':status']),
    }
  }
  stream.on('response', told)
  stream.on('trailers', told)
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
