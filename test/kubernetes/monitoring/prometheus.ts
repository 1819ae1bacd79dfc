import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { until } from '../../acceptance/client/until.ts'
import { prometheusProgram } from '../../support/promtool.ts'
import type { KubernetesCluster } from '../cluster/cluster.ts'
import { Daemon } from '../cluster/daemon.ts'
import { PodTargets } from './pod-targets.ts'
import { type PodMonitor, scrapeConfigsOf } from './scrape-config.ts'

const port = 9090
const startTimeoutMs = 60_000
const evaluationSeconds = 5

export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

export interface Target {
  readonly health: 'up' | 'down' | 'unknown'
  readonly lastError: string
  readonly labels: Readonly<Record<string, string>>
}

/** A real Prometheus with the scrape configuration and the rules of the chart in a namespace. */
export class Prometheus {
  readonly #url: string
  readonly #daemon: Daemon
  readonly #targets: PodTargets

  private constructor(url: string, daemon: Daemon, targets: PodTargets) {
    this.#url = url
    this.#daemon = daemon
    this.#targets = targets
  }

  /** Starts it. Resolves once it answers. */
  static async start(cluster: KubernetesCluster, namespace: string): Promise<Prometheus> {
    const itemsOf = async <T>(kind: string): Promise<readonly T[]> => {
      const text = await cluster.kubectl('get', kind, '-n', namespace, '-o=json')
      return (JSON.parse(text) as { readonly items: readonly T[] }).items
    }
    const folder = join(cluster.folder, 'prometheus')
    mkdirSync(folder)
    const [monitors, rules] = await Promise.all([
      itemsOf<PodMonitor>('podmonitors'),
      itemsOf<{ readonly spec: object }>('prometheusrules'),
    ])
    const files = rules.map(({ spec }, i) => {
      const file = join(folder, `rules-${i}.yaml`)
      writeFileSync(file, stringify(spec))
      return file
    })
    const targets = join(folder, 'targets.json')
    const config = {
      global: { evaluation_interval: `${evaluationSeconds}s` },
      rule_files: files,
      scrape_configs: monitors.flatMap((monitor) => scrapeConfigsOf(monitor, targets)),
    }
    writeFileSync(join(folder, 'prometheus.yaml'), stringify(config))
    const { command, env } = prometheusProgram('prometheus')
    const { network } = cluster
    const args = [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${network.address}:${port}`,
    ]
    const daemon = new Daemon(
      'prometheus',
      network.enter(command, ...args),
      join(folder, 'prometheus.log'),
      env,
    )
    const following = await PodTargets.follow(cluster, namespace, targets)
    daemon.start()
    const prometheus = new Prometheus(`http://${network.address}:${port}`, daemon, following)
    await until('Prometheus', () => prometheus.#isReady(), startTimeoutMs).catch(async (cause: unknown) => {
      await prometheus.stop()
      throw new Error(`Prometheus did not start: ${daemon.lastOutput()}`, { cause })
    })
    return prometheus
  }

  /** The result of an instant query. */
  async query(expression: string): Promise<readonly Sample[]> {
    const { result } = await this.#ask<{
      readonly result: readonly { readonly metric: Sample['metric']; readonly value: [number, string] }[]
    }>(`query?${new URLSearchParams({ query: expression }).toString()}`)
    return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
  }

  async targets(): Promise<readonly Target[]> {
    return (await this.#ask<{ readonly activeTargets: readonly Target[] }>('targets?state=active'))
      .activeTargets
  }

  /** Names of all alerts of the rules, each once. */
  async alerts(): Promise<readonly string[]> {
    const { groups } = await this.#ask<{
      readonly groups: readonly { readonly rules: readonly { readonly name: string }[] }[]
    }>('rules?type=alert')
    return [...new Set(groups.flatMap(({ rules }) => rules.map(({ name }) => name)))]
  }

  /** Names of firing alerts, each once. */
  async firing(): Promise<readonly string[]> {
    const found = await this.query('count by (alertname) (ALERTS{alertstate="firing"})')
    return found.map(({ metric }) => metric['alertname'] ?? '').toSorted()
  }

  /** Names of alerts that fired within the last `seconds`, each once. */
  async firedWithin(seconds: number): Promise<readonly string[]> {
    const found = await this.query(
      `count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[${seconds}s]))`,
    )
    return found.map(({ metric }) => metric['alertname'] ?? '').toSorted()
  }

  async stop(): Promise<void> {
    await this.#targets.stop()
    await this.#daemon.kill()
  }

  async #isReady(): Promise<boolean> {
    if (!this.#daemon.isRunning) throw new Error('it ended')
    return (await fetch(`${this.#url}/-/ready`)).ok
  }

  async #ask<T>(path: string): Promise<T> {
    const response = await fetch(`${this.#url}/api/v1/${path}`)
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string }
    if (status !== 'success') throw new Error(`Prometheus answered ${response.status} to ${path}: ${error}`)
    return data
  }
}
