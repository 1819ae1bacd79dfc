import type { StatusObject } from '@grpc/grpc-js'
import { type ClientIdentity, callMetadata, channelCredentials } from '../../wire/client.ts'
import type { CollectorMessage } from '../../wire/gen/fxd/v1/CollectorMessage.ts'
import type { IngestMessage__Output } from '../../wire/gen/fxd/v1/IngestMessage.ts'
import { channelOptions } from '../../wire/limits.ts'
import { Collector } from '../../wire/load.ts'

/** A message, or the bytes of one that carries bars. */
export type Outgoing = CollectorMessage | Buffer

/** One stream of `fxd.v1.Collector` as its client holds it. */
export interface CallStream {
  send(message: Outgoing): void
  /** No more will be sent; answers still come. */
  end(): void
  /** Ends it at once. */
  cancel(): void
}

export interface CallListener {
  received(message: IngestMessage__Output): void
  /** The last thing heard of it, once. */
  over(status: Pick<StatusObject, 'code' | 'details'>): void
}

export interface Peer {
  /** host:port of ingest. */
  readonly address: string
  readonly identity: ClientIdentity
}

/** Opens a line; nothing is heard before the call has returned. */
export type Dial = (peer: Peer, listener: CallListener) => CallStream

const { path, requestSerialize, responseDeserialize } = Collector.service.Session

export const serializeOutgoing = (message: Outgoing): Buffer =>
  message instanceof Buffer ? message : requestSerialize(message as CollectorMessage)

export const dialGrpc: Dial = ({ address, identity }, listener) => {
  const client = new Collector(address, channelCredentials(identity), {
    ...channelOptions,
    // Reconnecting is the session's, with its own pauses.
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
  })
  const stream = client.makeBidiStreamRequest(
    path,
    serializeOutgoing,
    responseDeserialize,
    callMetadata(identity),
  )
  // The status says what an error event says.
  stream.on('error', () => undefined)
  stream.on('status', (status: StatusObject) => {
    client.close()
    listener.over(status)
  })
  stream.on('data', (message: IngestMessage__Output) => listener.received(message))
  return {
    send: (message) => void stream.write(message),
    end: () => void stream.end(),
    cancel: () => stream.cancel(),
  }
}
