import type { KubeObject } from './object.ts'
import { group } from './resources.ts'

export type LabelsAndAnnotations = Pick<KubeObject['metadata'], 'labels' | 'annotations'>

/** Domains of labels and annotations that are about one object only: those of Helm, kubectl and the operator. */
const ownDomains = ['helm.sh', 'kubectl.kubernetes.io', group]
const managedBy = 'app.kubernetes.io/managed-by'

/** The labels and annotations that an object passes on to the objects made from it. */
export const inherited = ({ labels, annotations }: LabelsAndAnnotations): Required<LabelsAndAnnotations> => ({
  labels: withoutOwn(labels),
  annotations: withoutOwn(annotations),
})

const withoutOwn = (all: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => name !== managedBy && !isOwn(name)))

/** The domain is the part before the slash. */
function isOwn(name: string): boolean {
  const domain = name.slice(0, Math.max(0, name.indexOf('/')))
  return ownDomains.some((own) => domain === own || domain.endsWith(`.${own}`))
}
