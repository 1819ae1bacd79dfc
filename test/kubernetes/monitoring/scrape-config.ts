import { labelName } from './pod-targets.ts'

/** The fields of a PodMonitor that the chart uses. */
export interface PodMonitor {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: {
    readonly selector: {
      readonly matchLabels?: Readonly<Record<string, string>>
      readonly matchExpressions?: readonly {
        readonly key: string
        readonly operator: string
        readonly values?: readonly string[]
      }[]
    }
    readonly podTargetLabels?: readonly string[]
    readonly podMetricsEndpoints: readonly { readonly port: string; readonly interval?: string }[]
  }
}

const known = new Set(['selector', 'podTargetLabels', 'podMetricsEndpoints'])
const knownOfEndpoint = new Set(['port', 'interval'])

/**
 * The scrape configurations that the Prometheus operator makes from a PodMonitor: one per endpoint, for the targets of
 * a file. Throws for an unknown field, which would have no effect here.
 */
export const scrapeConfigsOf = ({ metadata, spec }: PodMonitor, targets: string): readonly object[] => {
  refuse(Object.keys(spec), known)
  const { matchLabels = {}, matchExpressions = [] } = spec.selector
  refuse(
    matchExpressions.map(({ operator }) => operator),
    new Set(['In']),
  )
  const label = (name: string): string => `__meta_kubernetes_pod_label_${labelName(name)}`
  const keep = (source: string, values: readonly string[]): object => ({
    action: 'keep',
    source_labels: [source],
    regex: values.map((value) => RegExp.escape(value)).join('|'),
  })
  return spec.podMetricsEndpoints.map((endpoint, i) => {
    refuse(Object.keys(endpoint), knownOfEndpoint)
    return {
      job_name: `podMonitor/${metadata.namespace}/${metadata.name}/${i}`,
      ...(endpoint.interval !== undefined && {
        scrape_interval: endpoint.interval,
        scrape_timeout: endpoint.interval,
      }),
      file_sd_configs: [{ files: [targets] }],
      relabel_configs: [
        { action: 'drop', source_labels: ['__meta_kubernetes_pod_phase'], regex: '(Failed|Succeeded)' },
        ...Object.entries(matchLabels).map(([name, value]) => keep(label(name), [value])),
        ...matchExpressions.map(({ key, values = [] }) => keep(label(key), values)),
        keep('__meta_kubernetes_pod_container_port_name', [endpoint.port]),
        { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace' },
        { source_labels: ['__meta_kubernetes_pod_container_name'], target_label: 'container' },
        { source_labels: ['__meta_kubernetes_pod_name'], target_label: 'pod' },
        ...(spec.podTargetLabels ?? []).map((name) => ({
          source_labels: [label(name)],
          target_label: labelName(name),
        })),
      ],
    }
  })
}

function refuse(names: readonly string[], of: ReadonlySet<string>): void {
  const strange = names.find((name) => !of.has(name))
  if (strange !== undefined) throw new Error(`The tests do not support "${strange}" of a PodMonitor.`)
}
