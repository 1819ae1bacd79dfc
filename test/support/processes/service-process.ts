/** The acceptance suite may import nothing of ours, so it owns this; whoever else starts the service takes it here. */
export { makeHome, type RunningService, startService } from '../../acceptance/client/service-process.ts'
