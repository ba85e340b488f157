output "controller_role_arn" {
  description = "For the chart's serviceAccount.annotations, with IRSA"
  value       = aws_iam_role.controller.arn
}

output "node_role_name" {
  description = "To name in an EC2NodeClass, and to map to the groups system:bootstrappers and system:nodes"
  value       = aws_iam_role.node.name
}

output "instance_profile_name" {
  description = "For the chart's settings.aws.defaultInstanceProfile, with AWSNodeTemplates"
  value       = aws_iam_instance_profile.node.name
}

output "queue_name" {
  description = "For the chart's settings.interruptionQueue"
  value       = aws_sqs_queue.interruption.name
}
