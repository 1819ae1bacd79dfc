import { part, type Rendered, type Texts } from './render.ts'

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } }
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly Variable[]
  readonly volumeMounts?: readonly {
    readonly name: string
    readonly mountPath: string
    readonly readOnly?: boolean
  }[]
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly resources: { readonly requests: object; readonly limits: object }
}

interface Volume {
  readonly name: string
  readonly secret?: { readonly secretName: string; readonly items: readonly { readonly key: string }[] }
}

export interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>>; readonly annotations?: object }
  readonly spec: {
    readonly containers: readonly Container[]
    readonly initContainers?: readonly Container[]
    readonly volumes?: readonly Volume[]
    readonly automountServiceAccountToken: boolean
    readonly enableServiceLinks: boolean
    readonly securityContext: Readonly<Record<string, unknown>>
    readonly [field: string]: unknown
  }
}

/** All pods of the chart by component; the two Jobs for secrets by their script. */
export function podsOf(objects: readonly Rendered[]): ReadonlyMap<string, PodTemplate> {
  const pods = new Map<string, PodTemplate>()
  for (const object of objects) {
    const pod = podOf(object)
    if (pod === undefined) continue
    const component = pod.metadata.labels['app.kubernetes.io/component'] ?? ''
    const does = component === 'secrets' ? `-${object.metadata.name.split('-').at(-1)}` : ''
    pods.set(`${component}${does}`, pod)
  }
  return pods
}

function podOf(object: Rendered): PodTemplate | undefined {
  const { kind, metadata } = object
  if (['Deployment', 'StatefulSet', 'StreamPool', 'Job'].includes(kind)) return part(object, 'spec.template')
  if (kind === 'CronJob') return part(object, 'spec.jobTemplate.spec.template')
  if (kind === 'ConfigMap' && metadata.name.endsWith('-collector-template'))
    return JSON.parse(part<Texts>(object, 'data')['template.json'] ?? '') as PodTemplate
  return undefined
}

export function podOfComponent(objects: readonly Rendered[], component: string): PodTemplate {
  const pod = podsOf(objects).get(component)
  if (pod) return pod
  throw new Error(`No object of the chart makes pods of ${component}.`)
}

const containersOf = ({ spec }: PodTemplate): readonly Container[] => [
  ...spec.containers,
  ...(spec.initContainers ?? []),
]

/** Secrets of a pod, as `secret/key`, from its environment and mounts. */
export function secretsOf(pod: PodTemplate): readonly string[] {
  const byEnvironment = containersOf(pod)
    .flatMap(({ env = [] }) => env)
    .flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? [])
    .map(({ name, key }) => `${name}/${key}`)
  const byMount = (pod.spec.volumes ?? [])
    .flatMap(({ secret }) => secret ?? [])
    .flatMap(({ secretName, items }) => items.map(({ key }) => `${secretName}/${key}`))
  return [...new Set([...byEnvironment, ...byMount])].toSorted()
}

/** FXD_ variables of a pod. */
export const variablesOf = (pod: PodTemplate): readonly string[] =>
  (pod.spec.containers[0]?.env ?? []).map(({ name }) => name).filter((name) => name.startsWith('FXD_'))

/** The value of a variable of the first container; `undefined`: not set, or from a Secret. */
export const valueOf = (pod: PodTemplate, variable: string): string | undefined =>
  pod.spec.containers[0]?.env?.find(({ name }) => name === variable)?.value
