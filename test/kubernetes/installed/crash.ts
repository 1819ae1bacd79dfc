import { readdirSync, readFileSync } from 'node:fs'
import type { UnderLoad } from './under-load.ts'

/** Ends the process of a pod, named as `pod/NAME`, like a crash, with SIGKILL. Resolves once its container has started again and is ready. */
export async function crash({ kubectl }: Pick<UnderLoad, 'kubectl'>, pod: string): Promise<void> {
  const of = (field: string): string => `.status.containerStatuses[0].${field}`
  const id = await kubectl('get', pod, `-o=jsonpath={${of('containerID')}}`)
  const restarts = Number(await kubectl('get', pod, `-o=jsonpath={${of('restartCount')}}`))
  const pids = processesOf(id.replace('containerd://', ''))
  if (pids.length === 0) throw new Error(`no process of ${pod} was found`)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await kubectl('wait', pod, `--for=jsonpath={${of('restartCount')}}=${restarts + 1}`, '--timeout=120s')
  await kubectl('wait', pod, '--for=condition=Ready', '--timeout=120s')
}

/** Ids of the processes in a container's cgroup. */
const processesOf = (container: string): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && cgroupsOf(name).includes(container))
    .map(Number)

function cgroupsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch {
    // It ended meanwhile.
    return ''
  }
}
