/**
 * Health checks of the custom resources for Argo CD, which shows every kind that it does not know as healthy. One
 * script serves all kinds, as they share their conditions.
 */
import { GROUP } from '../../../operator/kinds.ts';
import { WRITTEN } from './chart.ts';
import { printYaml } from './chart-text.ts';
import { customResources } from './custom-resources.ts';

/**
 * A status of another generation predates a change of the resource; generation -1 means that the
 * operator has not looked at the resource yet.
 */
const healthScript = `local health = { status = "Progressing", message = "The operator has not looked at it yet." }
if obj.metadata.deletionTimestamp ~= nil then
  health.message = "It is being deleted."
  return health
end
local status = obj.status
if status == nil or status.conditions == nil then
  return health
end
local found = {}
for _, condition in ipairs(status.conditions) do
  found[condition.type] = condition
end
local paused = found["Paused"]
if paused ~= nil and paused.status == "True" then
  return { status = "Suspended", message = "Paused: " .. paused.message }
end
local ready = found["Ready"]
if ready == nil or status.observedGeneration ~= obj.metadata.generation then
  return health
end
health.message = ready.reason .. ": " .. ready.message
if found["Reconciling"] ~= nil and found["Reconciling"].status == "True" then
  return health
end
if ready.status == "True" then
  health.status = "Healthy"
elseif ready.reason == "SuspendedByStaff" then
  health.status = "Suspended"
elseif found["Stalled"] ~= nil and found["Stalled"].status == "True" then
  health.status = "Degraded"
end
return health
`;

const settings = Object.fromEntries(
  customResources.map(({ kind }) => [
    `resource.customizations.health.${GROUP}_${kind}`,
    healthScript,
  ]),
);

export const argocdFiles: [string, string][] = [
  [
    'config/argocd/argocd-cm.yaml',
    `${WRITTEN}# kubectl --namespace argocd apply --server-side --field-manager=tintype -k config/argocd: these keys, beside those of others.\n` +
      printYaml({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'argocd-cm',
          namespace: 'argocd',
          labels: { 'app.kubernetes.io/part-of': 'argocd' },
        },
        data: settings,
      }),
  ],
];
