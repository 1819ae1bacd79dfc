import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { metricOf } from '../../../support/clients/metric-of.ts'
import { freePorts } from '../../../support/free-ports.ts'
import { ServerProcess } from '../../../support/processes/server-process.ts'
import { writeKubeconfig } from './api-server.ts'

const repository = join(import.meta.dirname, '../../../..')
const startDeadlineMs = 60_000

export interface OperatorOptions {
  /** Folder for its files. */
  readonly folder: string
  /** Name as of a pod: the same after a restart. */
  readonly name: string
  readonly url: string
  readonly ca: string
  readonly token: string
  readonly namespace: string
  readonly ingest: string
  readonly adminToken: string
  readonly shardToken: string
}

/** Pod template of collectors, whose pods do not run here. A proxy routes terminals to the Feed "terminal". */
const collectorTemplate = {
  terminals: {
    env: [{ name: 'FXD_TERMINAL_ADDR', value: '0.0.0.0:8090' }],
    url: 'https://t.example.org',
    feeds: ['terminal'],
  },
  metadata: { labels: { 'app.kubernetes.io/component': 'collector' } },
  spec: {
    automountServiceAccountToken: false,
    containers: [
      {
        name: 'collector',
        image: 'fxd:test',
        args: ['collector'],
        env: [{ name: 'FXD_INGEST', value: 'fxd-ingest:8090' }],
        resources: { requests: { cpu: '0.05', memory: '64Mi' } },
      },
    ],
  },
}

export interface OperatorProcess {
  readonly name: string
  readonly opsPort: number
  /** Resolves once its caches are in sync. */
  start(): Promise<void>
  /** Resolves once the process runs. Its caches may not be in sync. */
  launch(): Promise<void>
  /** Kills it, as in a crash. */
  kill(): Promise<void>
  stop(): Promise<unknown>
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
}

export async function operatorProcess(options: OperatorOptions): Promise<OperatorProcess> {
  const { folder, name, url, ca, token, namespace } = options
  const [opsPort = 0] = await freePorts(1)
  const file = (what: string, text: string): string => {
    const path = join(folder, `${name}-${what}`)
    writeFileSync(path, text)
    return path
  }
  const kubeconfig = join(folder, `${name}-kubeconfig.json`)
  writeKubeconfig(kubeconfig, { url, ca, token, namespace })
  const answers = (path: string) => async (): Promise<boolean> => {
    const answer = await fetch(`http://127.0.0.1:${opsPort}${path}`).catch(() => undefined)
    return answer?.status === 200
  }
  const process = (path: string): ServerProcess =>
    new ServerProcess({
      name,
      command: join(repository, 'bin/node'),
      args: [join(repository, 'services/main.ts'), 'operator'],
      env: {
        KUBECONFIG: kubeconfig,
        FXD_OPS_ADDR: `127.0.0.1:${opsPort}`,
        FXD_POD_NAME: name,
        FXD_INGEST: options.ingest,
        FXD_TOKEN_FILE: file('admin-token', options.adminToken),
        FXD_SHARD_TOKEN_FILE: file('shard-token', options.shardToken),
        FXD_COLLECTOR_TEMPLATE: file('collector.json', JSON.stringify(collectorTemplate)),
        FXD_LOG_FORMAT: 'json',
      },
      answers: answers(path),
      startDeadlineMs,
    })
  let running: ServerProcess | undefined
  const run = async (path: string): Promise<void> => {
    running = process(path)
    await running.start()
  }
  return {
    name,
    opsPort,
    start: () => run('/readyz'),
    launch: () => run('/livez'),
    kill: async () => running?.kill(),
    stop: async () => running?.stop(),
    metric: (metric, labels) => metricOf(opsPort, metric, labels),
  }
}
