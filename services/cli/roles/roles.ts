import type { Command } from 'commander'
import type { RoleName } from '../../platform/config/role-variables.ts'
import type { Config } from '../../platform/config.ts'
import { formatAddress, reachable } from '../../platform/listen.ts'
import { configOf, type Terminal } from '../terminal.ts'
import { type Running, runRole } from './run-role.ts'

type Ports = Partial<
  Readonly<Record<'httpPort' | 'grpcPort' | 'opsPort' | 'terminalPort', number | undefined>>
>

interface Role {
  readonly name: RoleName
  /** Whether a stop drains for up to FXD_DRAIN_SECONDS. */
  readonly drains: boolean
  readonly summary: string
  readonly description: string
  readonly start: (config: Config, ending: AbortSignal) => Promise<Running & Ports>
}

const roles: readonly Role[] = [
  {
    name: 'rest',
    drains: true,
    summary: 'answer REST requests; several may run',
    description:
      'Answer REST requests on FXD_HTTP_ADDR from QuestDB and Redis. Any number of these may run behind one address.',
    start: async (config, ending) => (await import('../../roles/rest.ts')).startRest(config, { ending }),
  },
  {
    name: 'stream',
    drains: true,
    summary: 'serve sockets of /v1/stream; several may run',
    description:
      'Hold sockets of /v1/stream on FXD_HTTP_ADDR, fed by Redis. Any number of these may run behind one address.\n' +
      'SIGTERM closes the sockets over FXD_DRAIN_SECONDS. A second SIGTERM, or Ctrl-C, closes all immediately.',
    start: async (config, ending) => (await import('../../roles/stream.ts')).startStream(config, { ending }),
  },
  {
    name: 'ingest',
    drains: false,
    summary: 'accept bars from collectors; several may run',
    description:
      'Accept bars from collectors and commands on FXD_GRPC_ADDR, and store them in QuestDB. With FXD_FEEDS it makes the\n' +
      'registry equal to those manifests, again on SIGHUP.',
    start: async (config, ending) => (await import('../../roles/ingest.ts')).startIngest(config, { ending }),
  },
  {
    name: 'collector',
    drains: false,
    summary: 'collect the bars of one feed',
    description:
      'Collect the bars of one feed (FXD_FEEDS, FXD_FEED) and send them to an ingest (FXD_INGEST) with the token of\n' +
      'FXD_TOKEN_FILE. Bars that are not acknowledged yet are kept in FXD_DATA_DIR.',
    start: async (config, ending) =>
      (await import('../../roles/collector.ts')).startCollector(config, { ending }),
  },
  {
    name: 'operator',
    drains: false,
    summary: 'follow the Feed, ApiKey and StreamPool objects of Kubernetes',
    description:
      'Reconcile the registry (FXD_INGEST), collectors, keys and shards with the Feed, ApiKey and StreamPool objects of one\n' +
      'namespace. In a pod it uses its service account, else KUBECONFIG. One of several replicas leads.',
    start: async (config, ending) =>
      (await import('../../../operator/main.ts')).startOperator(config, { ending }),
  },
  {
    name: 'canary',
    drains: false,
    summary: 'watch the service as one of its clients',
    description:
      'Hold one socket (FXD_CANARY_STREAM) on FXD_CANARY_SYMBOLS with the key of FXD_CANARY_KEY_FILE, compare what is\n' +
      'pushed with history (FXD_CANARY_REST), and report latency and missed bars as metrics.',
    start: async (config, ending) => (await import('../../roles/canary.ts')).startCanary(config, { ending }),
  },
]

export function addRoles(program: Command, terminal: Terminal): void {
  for (const { name, drains, summary, description, start } of roles) {
    program
      .command(name)
      .summary(summary)
      .description(description)
      .action(async () => {
        const config = configOf(terminal, name)
        await runRole(
          terminal,
          (ending) => start(config, ending),
          (running) => terminal.out(readyLine(terminal, name, config, running)),
          drains ? config.drainSeconds * 1_000 : 0,
        )
      })
  }
}

/** A line for a person; empty beside a log of JSON, which says `listening`. */
export function readyLine(
  { watched }: Pick<Terminal, 'watched'>,
  name: string,
  config: Pick<Config, 'httpAddr' | 'grpcAddr' | 'opsAddr' | 'terminalAddr' | 'logFormat'>,
  { httpPort, grpcPort, terminalPort, opsPort }: Ports,
): string {
  if (config.logFormat === 'json' || (config.logFormat === 'auto' && !watched)) return ''
  const at = (
    what: string,
    of: 'httpAddr' | 'grpcAddr' | 'opsAddr' | 'terminalAddr',
    port: number | undefined,
  ): string[] => (port === undefined ? [] : [`${what} ${formatAddress({ ...reachable(config[of]), port })}`])
  const places = [
    ...at('HTTP', 'httpAddr', httpPort),
    ...at('gRPC', 'grpcAddr', grpcPort),
    ...at('terminals', 'terminalAddr', terminalPort),
    ...at('health and metrics', 'opsAddr', opsPort),
  ]
  return `fxd ${name} is ready: ${places.join(', ')}\n`
}
