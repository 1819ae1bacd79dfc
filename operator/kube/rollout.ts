import type { Workload } from './resources.ts'

/** Whether Kubernetes has not seen the last change of the workload yet. */
export const isUnseen = ({ metadata, status }: Workload): boolean =>
  (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)

/** Whether pods of an older template still run. */
export function isRollingOut({ spec, status }: Workload): boolean {
  const { updatedReplicas = 0, replicas = 0 } = status ?? {}
  return updatedReplicas < Math.min(spec?.replicas ?? 0, replicas) || replicas > updatedReplicas
}
