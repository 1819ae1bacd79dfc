import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Kubectl } from '../cluster/kubectl.ts'

/** Ids of the processes in the first container of a pod, named as `pod/NAME`. Rejects when there is none. */
export async function processesOf(kubectl: Kubectl, pod: string): Promise<readonly [number, ...number[]]> {
  const id = await kubectl('get', pod, '-o=jsonpath={.status.containerStatuses[0].containerID}')
  const container = id.replace('containerd://', '')
  const [first, ...others] = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && cgroupsOf(name).includes(container))
    .map(Number)
  if (first === undefined) throw new Error(`no process of ${pod} was found`)
  return [first, ...others]
}

function cgroupsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch {
    // It ended meanwhile.
    return ''
  }
}

/** `pid`: first process of a container. Returns the id of its parent, which reads the output of the container. */
export function outputReaderOf(pid: number): number {
  const [, parent] = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(parent)
}

export interface Stops {
  readonly stoppedMs: number
  readonly runningMs: number
}

/** Stops and continues the processes in turn, until the signal is aborted. Afterwards they run. */
export async function stopRepeatedly(
  pids: readonly number[],
  { stoppedMs, runningMs }: Stops,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const pid of pids) send(pid, 'SIGSTOP')
    await pause(stoppedMs)
    for (const pid of pids) send(pid, 'SIGCONT')
    await pause(runningMs)
  }
}

/** A process that has ended gets no signal. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause
  }
}
