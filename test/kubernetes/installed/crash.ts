import { processesOf } from './pod-processes.ts'
import type { UnderLoad } from './under-load.ts'

/** Ends the process of a pod, named as `pod/NAME`, like a crash, with SIGKILL. Resolves once its container has started again and is ready. */
export async function crash({ kubectl }: Pick<UnderLoad, 'kubectl'>, pod: string): Promise<void> {
  const restartCount = '.status.containerStatuses[0].restartCount'
  const restarts = Number(await kubectl('get', pod, `-o=jsonpath={${restartCount}}`))
  for (const pid of await processesOf(kubectl, pod)) process.kill(pid, 'SIGKILL')
  await kubectl('wait', pod, `--for=jsonpath={${restartCount}}=${restarts + 1}`, '--timeout=120s')
  await kubectl('wait', pod, '--for=condition=Ready', '--timeout=120s')
}
