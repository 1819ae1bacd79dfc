import { readFileSync } from 'node:fs'
import { until } from '../../acceptance/client/until.ts'
import type { Cluster } from './cluster.ts'

/** Maximum time of a stop: a drain, and the seconds around the end of a minute in which no socket is closed. */
const stopMsMax = 60_000
const balancerMsMax = 30_000

/** Restarts a process like a rollout; resolves once it is in rotation. */
export async function rollOut(cluster: Cluster, name: string): Promise<void> {
  const { role, program } = cluster.pod(name)
  const outcome = await program.stop('SIGTERM', stopMsMax)
  if (outcome !== 0) throw new Error(`${name} ended with ${outcome}:\n${program.logTail()}`)
  await program.start()
  if (role !== 'collector') await inRotation(cluster, name)
}

/** Resolves once the load balancer uses a process that is ready. */
export async function inRotation({ pod, balancer }: Cluster, name: string): Promise<void> {
  const { role } = pod(name)
  const lastLine = (state: string): number =>
    readFileSync(balancer.log, 'utf8').lastIndexOf(`${role}/${name} is ${state}`)
  // A process that restarts before two failed checks of the balancer was never out of rotation.
  await until(`${name} to be in rotation`, () => lastLine('UP') >= lastLine('DOWN'), balancerMsMax)
}
