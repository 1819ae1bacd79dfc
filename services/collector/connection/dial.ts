import type { StatusObject } from '@grpc/grpc-js'
import { type ClientIdentity, callMetadata, channelCredentials } from '../../wire/client.ts'
import type { CollectorMessage } from '../../wire/gen/fxd/v1/CollectorMessage.ts'
import type { IngestMessage__Output } from '../../wire/gen/fxd/v1/IngestMessage.ts'
import { channelOptions } from '../../wire/limits.ts'
import { Collector } from '../../wire/load.ts'

/** A message, or the bytes of a message of bars. */
export type Outgoing = CollectorMessage | Buffer

/** The client side of one call of `fxd.v1.Collector.Session`. */
export interface CallStream {
  send(message: Outgoing): void
  /** Sends no more messages; answers still arrive. */
  end(): void
  cancel(): void
}

export interface CallListener {
  received(message: IngestMessage__Output): void
  /** Called once, as the last event. */
  over(status: Pick<StatusObject, 'code' | 'details'>): void
}

export interface Peer {
  /** host:port of ingest. */
  readonly address: string
  readonly identity: ClientIdentity
}

/** Opens a call. The listener is not called before this function has returned. */
export type Dial = (peer: Peer, listener: CallListener) => CallStream

const { path, requestSerialize, responseDeserialize } = Collector.service.Session

export const serializeOutgoing = (message: Outgoing): Buffer =>
  message instanceof Buffer ? message : requestSerialize(message as CollectorMessage)

export const dialGrpc: Dial = ({ address, identity }, listener) => {
  const client = new Collector(address, channelCredentials(identity), {
    ...channelOptions,
    // The collector reconnects, with pauses of its own, so gRPC must not retry.
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
  })
  const stream = client.makeBidiStreamRequest(
    path,
    serializeOutgoing,
    responseDeserialize,
    callMetadata(identity),
  )
  // The status event reports the same failure.
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
