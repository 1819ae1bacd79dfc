import { randomBytes } from 'node:crypto'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { seed } from '../../acceptance/client/seed.ts'
import type { Target } from '../../acceptance/client/target.ts'
import { newKey } from '../clients/new-key.ts'
import { makeHome } from '../processes/service-process.ts'
import { type Cluster, type Role, startCluster } from './cluster.ts'
import { loadBalancerSource } from './load-balancer.ts'
import { untilUpgraded } from './until-upgraded.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
/** The loopback address that the acceptance suite uses as a trusted proxy. */
const trustedProxy = '127.0.0.2'
/** API keys, and tokens of charts. */
const keyShape = /fxd_[0-9a-f]{32}|fxc_[\w-]{20}/

declare module 'vitest' {
  interface ProvidedContext {
    pods: readonly {
      readonly name: string
      readonly role: Role
      /** Its own port, without the load balancer. */
      readonly port: number
      readonly opsPort: number
    }[]
  }
}

/** Starts a cluster with first bars as the service of the acceptance suite. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { home, discard } = makeHome()
  const log = join(home, 'service.log')
  const chartKeys = join(home, 'chart-keys')
  writeFileSync(chartKeys, `${randomBytes(32).toString('hex')}\n`)
  const cluster = await startCluster({
    rest: 2,
    stream: 2,
    ingest: 2,
    feeds: join(home, 'feeds'),
    home: join(home, 'cluster'),
    log,
    env: {
      FXD_TRUSTED_PROXIES: `${trustedProxy}/32,${loadBalancerSource}/32`,
      FXD_CHART_KEYS: chartKeys,
    },
  })
  const end = async (): Promise<void> => {
    const measured = await Promise.all(cluster.pods.map(keysInMetrics))
    const failed = await cluster.stop()
    const wrong = [...measured.flat(), ...keysIn(log), ...failed]
    if (wrong.length > 0) throw new Error(`${wrong.join('\n')}\nThe logs are in ${home}.`)
    discard()
  }
  try {
    const target = targetOf(cluster, home, log)
    await seed(target)
    const key = await newKey(cluster.commandEnv, '--plan basic --feeds BROKERA:ZERO')
    await untilUpgraded(cluster.httpPort, key)
    project.provide('target', target)
    project.provide(
      'pods',
      cluster.pods.map(({ name, role, port, opsPort }) => ({ name, role, port, opsPort })),
    )
  } catch (cause) {
    await cluster.stop()
    throw cause
  }
  return end
}

function targetOf(
  { httpPort, grpcPort, token, commandEnv, pods }: Cluster,
  home: string,
  log: string,
): Target {
  const assigned = Object.entries(commandEnv).map(([name, value]) => `${name}='${value}'`)
  const tool = `${assigned.join(' ')} '${join(repository, 'bin/node')}' '${join(repository, 'services/main.ts')}'`
  appendFileSync(log, '')
  return {
    url: `http://127.0.0.1:${httpPort}`,
    ws: `ws://127.0.0.1:${httpPort}`,
    ops: `http://127.0.0.1:${pods.find(({ role }) => role === 'rest')?.opsPort}`,
    grpc: `127.0.0.1:${grpcPort}`,
    token,
    issuer: `${tool} keys`,
    importer: `${tool} import`,
    input: join(home, 'input'),
    log,
  }
}

/** A complaint for each line of a log that contains a key. */
const keysIn = (log: string): string[] =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => keyShape.test(line))
    .map((line) => `a key was written to a log: ${line}`)

async function keysInMetrics({ name, opsPort }: Cluster['pods'][number]): Promise<string[]> {
  const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text()
  if (!text.includes('fxd_')) return [`${name} answered no metrics: ${text.slice(0, 500)}`]
  return text
    .split('\n')
    .filter((line) => keyShape.test(line))
    .map((line) => `${name} wrote a key to its metrics: ${line}`)
}
