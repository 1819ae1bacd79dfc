import type { CallOptions, Client, MethodDefinition, ServiceDefinition } from '@grpc/grpc-js'
import { type ClientIdentity, callMetadata, channelCredentials } from './client.ts'
import type { RegistryDefinition } from './gen/fxd/v1/Registry.ts'
import type { ShardDefinition } from './gen/fxd/v1/Shard.ts'
import { channelOptions } from './limits.ts'
import { Registry, Shard } from './load.ts'

type Method<Request, Answer> = Pick<
  MethodDefinition<Request, Answer>,
  'path' | 'requestSerialize' | 'responseDeserialize'
>
type RequestFor<M> = M extends { requestSerialize: (value: infer Request) => Buffer } ? Request : never
type AnswerFor<M> = M extends { responseDeserialize: (bytes: Buffer) => infer Answer } ? Answer : never

/** A client of a service with unary calls only: one request, one answer. */
export interface UnaryClient<D> {
  /** Rejects with the library's `ServiceError`. */
  call<Name extends keyof D>(
    name: Name,
    request: RequestFor<D[Name]>,
    options?: CallOptions,
  ): Promise<AnswerFor<D[Name]>>
  close(): void
}

/** The named methods only: a definition of the library has an index signature for every string. */
type Named<D> = { [Name in keyof D as string extends Name ? never : Name]: D[Name] }
type RegistryMethods = Named<RegistryDefinition>
type ShardMethods = Named<ShardDefinition>
export type RegistryCall = keyof RegistryMethods
export type RequestOf<Name extends RegistryCall> = RequestFor<RegistryMethods[Name]>
export type AnswerOf<Name extends RegistryCall> = AnswerFor<RegistryMethods[Name]>

/** The library's own maximum is two minutes, after which an ingest that is back would still seem silent. */
const registryOptions = { ...channelOptions, 'grpc.max_reconnect_backoff_ms': 1_000 }

export const registryClient = (address: string, identity: ClientIdentity): UnaryClient<RegistryMethods> =>
  unaryClient(
    new Registry(address, channelCredentials(identity), registryOptions),
    Registry.service,
    identity,
  )

export const shardClient = (address: string, identity: ClientIdentity): UnaryClient<ShardMethods> =>
  unaryClient(new Shard(address, channelCredentials(identity), channelOptions), Shard.service, identity)

function unaryClient<D>(
  client: Client,
  service: ServiceDefinition,
  identity: ClientIdentity,
): UnaryClient<D> {
  const metadata = callMetadata(identity)
  return {
    call<Name extends keyof D>(name: Name, request: RequestFor<D[Name]>, options: CallOptions = {}) {
      type Answer = AnswerFor<D[Name]>
      const method = service[String(name)] as Method<typeof request, Answer>
      return new Promise<Answer>((resolve, reject) => {
        client.makeUnaryRequest(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          request,
          metadata,
          options,
          (error, answer) => {
            if (error) reject(error)
            else resolve(answer as Answer)
          },
        )
      })
    },
    close: () => client.close(),
  }
}
