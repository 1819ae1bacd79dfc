import type { Workload } from './resources.ts'

/** Whether the workload changed and Kubernetes has not looked at it since. */
export const isUnseen = ({ metadata, status }: Workload): boolean =>
  (status?.observedGeneration ?? 0) < (metadata.generation ?? 0)

/** Whether pods of an older template run. */
export function isRollingOut({ spec, status }: Workload): boolean {
  const { updatedReplicas = 0, replicas = 0 } = status ?? {}
  return updatedReplicas < Math.min(spec?.replicas ?? 0, replicas) || replicas > updatedReplicas
}
