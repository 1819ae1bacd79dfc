/** The acceptance suite owns these functions, because it may import nothing of ours. Other tests import them from here. */
export { makeHome, type RunningService, startService } from '../../acceptance/client/service-process.ts'
