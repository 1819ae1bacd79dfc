import { type ServiceError, status } from '@grpc/grpc-js'
import { isLoopback } from '../platform/addresses.ts'
import type { Config } from '../platform/config.ts'
import { readTls } from '../platform/credentials/tls.ts'
import { readToken, tokenPath } from '../platform/credentials/token.ts'
import { formatAddress, reachable } from '../platform/listen.ts'
import { type ExitName, Fatal } from '../platform/process/exit.ts'
import type { ClientIdentity } from '../wire/client.ts'
import { type AnswerOf, type RegistryCall, type RequestOf, registryClient } from '../wire/unary-client.ts'
import { configOf, type Terminal } from './terminal.ts'

/** Timeout of a call; a purge of a large feed takes longest. */
const callTimeoutMs = 60_000

export interface RegistryCaller {
  call<Name extends RegistryCall>(name: Name, request: RequestOf<Name>): Promise<AnswerOf<Name>>
  close(): void
}

export interface Service {
  /** host:port */
  readonly address: string
  readonly variable: 'FXD_INGEST' | 'FXD_GRPC_ADDR'
  readonly config: Config
}

/** Returns the first ingest of FXD_INGEST where that is set, as in the operator's pods; otherwise the local service. */
export function serviceOf(terminal: Terminal): Service {
  const config = configOf(terminal)
  const [first] = terminal.environment['FXD_INGEST'] === undefined ? [] : config.ingest
  const address = formatAddress(reachable(first ?? config.grpcAddr))
  return { address, variable: first ? 'FXD_INGEST' : 'FXD_GRPC_ADDR', config }
}

/** Returns the token of the service that uses this data folder, or a client certificate. Throws `Fatal` without both. */
export function neededIdentity(config: Config): ClientIdentity {
  const token = readToken(config)
  const tls = readTls(config)
  if (token !== undefined || tls?.pair) return { token, tls }
  throw new Fatal(
    'unavailable',
    `There is no token at ${tokenPath(config)}. Start a service with "fxd all", or select the token of the ` +
      'service that runs: set FXD_TOKEN_FILE to its token file, or FXD_DATA_DIR to its data folder.',
  )
}

/** Beside the service itself, its own certificate is enough: the names in it are those that others use. */
function identityFor({ variable, config }: Service): ClientIdentity {
  const identity = neededIdentity(config)
  const { pair, ca } = identity.tls ?? {}
  const isBeside = variable === 'FXD_GRPC_ADDR' && isLoopback(reachable(config.grpcAddr).host)
  if (!isBeside || identity.token === undefined || pair === undefined || ca !== undefined) return identity
  return { ...identity, tls: { pinned: pair.cert } }
}

export function openRegistry(terminal: Terminal): RegistryCaller {
  const { clock } = terminal
  const service = serviceOf(terminal)
  const client = registryClient(service.address, identityFor(service))
  return {
    async call(name, request) {
      try {
        return await client.call(name, request, { deadline: clock.utcMs() + callTimeoutMs })
      } catch (cause) {
        throw explain(cause as ServiceError, service)
      }
    },
    close: () => client.close(),
  }
}

const exits: Readonly<Partial<Record<status, ExitName>>> = {
  [status.INVALID_ARGUMENT]: 'usage',
  [status.NOT_FOUND]: 'refused',
  [status.FAILED_PRECONDITION]: 'refused',
  [status.ABORTED]: 'busy',
  [status.RESOURCE_EXHAUSTED]: 'busy',
  [status.UNAVAILABLE]: 'unavailable',
  [status.DEADLINE_EXCEEDED]: 'unavailable',
  [status.UNAUTHENTICATED]: 'noPermission',
  [status.PERMISSION_DENIED]: 'noPermission',
}

/** Converts a gRPC error to a sentence. The service's own refusals are sentences already. */
export function explain(error: Pick<ServiceError, 'code' | 'details'>, service: Service): Fatal {
  const where = `The fxd at ${service.address} (${service.variable})`
  const exit = exits[error.code] ?? 'internal'
  if (exit === 'unavailable' && /certificate|self[- ]signed|SSL|EPROTO|altname/i.test(error.details))
    return new Fatal(exit, `${where} cannot be trusted over TLS (FXD_TLS_CA): ${error.details}`, error)
  const isUnreachable = exit === 'unavailable' && /no connection|ECONN|resolution failed/i.test(error.details)
  if (isUnreachable)
    return new Fatal(
      exit,
      `${where} does not answer. Check that it runs and that ${service.variable} is correct.`,
      error,
    )
  if (error.code === status.DEADLINE_EXCEEDED)
    return new Fatal(exit, `${where} did not answer in time.`, error)
  if (exit === 'internal') return new Fatal(exit, `${where} failed: ${error.details}`, error)
  if (error.code !== status.UNAUTHENTICATED) return new Fatal(exit, error.details, error)
  const cure = 'FXD_TOKEN_FILE or FXD_DATA_DIR must select the token of that service.'
  return new Fatal(exit, `${where} refused the token of ${tokenPath(service.config)}: ${cure}`, error)
}
