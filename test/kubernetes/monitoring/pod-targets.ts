import { renameSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { KubernetesCluster } from '../cluster/cluster.ts'

const everyMs = 2_000

interface Pod {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly containers: readonly {
      readonly name: string
      readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[]
    }[]
  }
  readonly status: { readonly podIP?: string; readonly phase: string }
}

/** A Kubernetes label in the notation of Prometheus. */
export const labelName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_]/g, '_')

/**
 * Keeps a file of targets equal to the pods of a namespace, with the labels of Prometheus' pod discovery. The Debian
 * package of Prometheus is built without that discovery.
 */
export class PodTargets {
  readonly #list: () => Promise<string>
  readonly #file: string
  readonly #ended = new AbortController()
  readonly #running: Promise<void>

  private constructor(list: () => Promise<string>, file: string) {
    this.#list = list
    this.#file = file
    this.#running = this.#run()
  }

  /** Resolves once the file exists. */
  static async follow(cluster: KubernetesCluster, namespace: string, file: string): Promise<PodTargets> {
    const targets = new PodTargets(() => cluster.kubectl('get', 'pods', '-n', namespace, '-o=json'), file)
    await targets.#write()
    return targets
  }

  stop(): Promise<void> {
    this.#ended.abort()
    return this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      await pause(everyMs, undefined, { signal }).catch(() => undefined)
      // Without an API server the targets stay unchanged.
      if (!signal.aborted) await this.#write().catch(() => undefined)
    }
  }

  async #write(): Promise<void> {
    const { items } = JSON.parse(await this.#list()) as { readonly items: readonly Pod[] }
    const written = `${this.#file}.new`
    writeFileSync(written, JSON.stringify(items.flatMap(targetsOf)))
    renameSync(written, this.#file)
  }
}

function targetsOf({ metadata, spec, status }: Pod): readonly object[] {
  const { podIP, phase } = status
  if (podIP === undefined) return []
  const labels: Record<string, string> = {}
  for (const [name, value] of Object.entries(metadata.labels ?? {}))
    labels[`__meta_kubernetes_pod_label_${labelName(name)}`] = value
  return spec.containers.flatMap(({ name: container, ports = [] }) =>
    ports.map(({ name = '', containerPort }) => ({
      targets: [`${podIP}:${containerPort}`],
      labels: {
        ...labels,
        __meta_kubernetes_namespace: metadata.namespace,
        __meta_kubernetes_pod_name: metadata.name,
        __meta_kubernetes_pod_phase: phase,
        __meta_kubernetes_pod_container_name: container,
        __meta_kubernetes_pod_container_port_name: name,
      },
    })),
  )
}
