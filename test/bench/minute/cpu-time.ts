import { readdirSync, readFileSync } from 'node:fs'

/** Processor time of all threads of a process, in milliseconds. Threads that ended are not counted. */
export function cpuMs(pid: number): number {
  const tasks = `/proc/${pid}/task`
  return readdirSync(tasks).reduce((sum, task) => {
    try {
      return sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6
    } catch {
      return sum
    }
  }, 0)
}
