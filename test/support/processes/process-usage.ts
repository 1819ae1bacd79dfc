import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Environment of a Node process that prints its usage at its exit. */
export const printingUsage = {
  NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, 'print-usage.ts')).href}`,
}

interface ProcessUsage {
  readonly cpuMs: number
  readonly peakMib: number
}

/** The usage at the end of what such a process wrote to standard error. */
export const usageIn = (stderr: string): ProcessUsage =>
  JSON.parse(stderr.slice(stderr.lastIndexOf('{'))) as ProcessUsage
