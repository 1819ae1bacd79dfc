import { type ServiceError, status } from '@grpc/grpc-js'
import { formatAddress } from '../../services/platform/listen.ts'
import type { Log } from '../../services/platform/log/log.ts'
import type { Clock } from '../../services/platform/system-clock.ts'
import type { ClientIdentity } from '../../services/wire/client.ts'
import type { Load__Output } from '../../services/wire/gen/fxd/v1/Load.ts'
import { shardClient } from '../../services/wire/unary-client.ts'
import { type Pod, poolLabel } from '../kube/resources.ts'

const callTimeoutMs = 2_000
const grpcPortDefault = 8090

interface ShardCallsDeps {
  readonly identity: () => ClientIdentity
  readonly clock: Clock
  readonly log: Log
  /** Called before each call that changes something. The call rejects with what it throws. */
  readonly beforeWrite: () => void
}

/** Calls `fxd.v1.Shard` of pods by address. Each call opens a connection, because calls are seconds apart. */
export class ShardCalls {
  readonly #deps: ShardCallsDeps

  constructor(deps: ShardCallsDeps) {
    this.#deps = deps
  }

  /** The load; `undefined`: the pod does not run yet or does not answer. Rejects when it rejects the credentials. */
  async load(pod: Pod): Promise<Load__Output | undefined> {
    if (addressOf(pod) === undefined) return undefined
    try {
      return await this.#call(pod, 'GetLoad', {})
    } catch (cause) {
      const { code } = cause as ServiceError
      if (code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED) throw cause
      this.#deps.log.debug({ err: cause, pod: pod.metadata.name }, 'load of a shard unavailable')
      return undefined
    }
  }

  async drain(pod: Pod, seconds: number): Promise<void> {
    this.#deps.beforeWrite()
    await this.#call(pod, 'Drain', { seconds })
  }

  async undrain(pod: Pod): Promise<void> {
    this.#deps.beforeWrite()
    await this.#call(pod, 'Undrain', {})
  }

  async #call(pod: Pod, name: 'GetLoad' | 'Drain' | 'Undrain', request: object): Promise<Load__Output> {
    const address = addressOf(pod)
    if (address === undefined) throw new Error(`the pod ${pod.metadata.name} has no address`)
    const client = shardClient(address, identityFor(pod, this.#deps.identity()))
    try {
      return await client.call(name, request, { deadline: this.#deps.clock.utcMs() + callTimeoutMs })
    } finally {
      client.close()
    }
  }
}

/** Certificates do not contain pod addresses, so the certificate must name the Service of the pool. */
function identityFor({ metadata }: Pod, { token, tls }: ClientIdentity): ClientIdentity {
  const pool = metadata.labels?.[poolLabel] ?? ''
  return { token, tls: tls && { ...tls, serverName: `${pool}.${metadata.namespace ?? ''}.svc` } }
}

function addressOf({ spec, status: now }: Pod): string | undefined {
  const host = now?.podIP
  if (host === undefined || now?.phase !== 'Running') return undefined
  const ports = spec?.containers?.[0]?.ports ?? []
  const port = ports.find(({ name }) => name === 'grpc')?.containerPort ?? grpcPortDefault
  return formatAddress({ host, port })
}
