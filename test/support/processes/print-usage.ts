import { readFileSync } from 'node:fs'

/**
 * For `--import`: at its exit a process prints its CPU time and its maximum memory to standard error. On Linux
 * `maxRSS` is at least the memory of the process that started this one, so the system's own figure is read there.
 */
process.on('exit', () => {
  const { user, system } = process.cpuUsage()
  const peakKib =
    process.platform === 'linux'
      ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
      : process.resourceUsage().maxRSS
  process.stderr.write(JSON.stringify({ cpuMs: (user + system) / 1_000, peakMib: peakKib / 1_024 }))
})
