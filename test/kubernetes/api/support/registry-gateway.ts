import {
  credentials,
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  ServerCredentials,
  status,
} from '@grpc/grpc-js'
import { channelOptions } from '../../../../services/wire/limits.ts'
import { Registry } from '../../../../services/wire/load.ts'
import type { IngestFixture } from '../../../support/fixtures/ingest-fixture.ts'

/** A proxy between operators and ingest. It records calls and can cut the connection after a change. */
export interface RegistryGateway {
  readonly address: string
  /** Names of the calls that may change something. */
  readonly writes: readonly string[]
  /** Stops answers of ingest. With the name of a call, it stops the answers of that call only. */
  cut(call?: string): void
  /** Restores the answers of ingest. */
  restore(): void
  /** Calls `reached` once a call has changed the registry. Its answer and all later ones are dropped. */
  cutAfterChange(reached: () => void): void
  close(): void
}

const away = { code: status.UNAVAILABLE, details: 'the test cut the connection' }
const isRead = (name: string): boolean => name.startsWith('List') || name.startsWith('Get')

export async function openRegistryGateway({ address, registry }: IngestFixture): Promise<RegistryGateway> {
  const client = new Registry(address, credentials.createInsecure(), channelOptions)
  const server = new Server(channelOptions)
  const writes: string[] = []
  const cut = new Set<string>()
  let reached: (() => void) | undefined

  const passing =
    (name: string, method: MethodDefinition<object, object>): handleUnaryCall<object, object> =>
    (call, answer) => {
      if (cut.has('') || cut.has(name)) return answer(away)
      if (!isRead(name)) writes.push(name)
      const before = registry.view().version
      const { path, requestSerialize, responseDeserialize } = method
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        call.request,
        call.metadata,
        (error, given) => {
          if (reached !== undefined && !isRead(name) && registry.view().version > before) {
            cut.add('')
            reached()
            reached = undefined
          }
          if (!cut.has('')) answer(error, given)
        },
      )
    }
  const methods = Object.entries<MethodDefinition<object, object>>(Registry.service)
  server.addService(
    Registry.service,
    Object.fromEntries(methods.map(([name, method]) => [name, passing(name, method)])),
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  return {
    address: `127.0.0.1:${port}`,
    writes,
    cut: (call = '') => void cut.add(call),
    restore() {
      cut.clear()
      reached = undefined
    },
    cutAfterChange: (listen) => void (reached = listen),
    close() {
      client.close()
      server.forceShutdown()
    },
  }
}
