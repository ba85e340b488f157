# What a controller that speaks the Karpenter API needs of AWS: the same things, by the
# same names, as the CloudFormation template beside this folder.

terraform {
  required_version = ">= 1.3"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

data "aws_partition" "current" {}
data "aws_caller_identity" "current" {}
data "aws_region" "current" {}

locals {
  partition = data.aws_partition.current.partition
  oidc      = replace(var.oidc_provider_arn, "/^.*oidc-provider\\//", "")
  policies = [
    "AmazonEKS_CNI_Policy",
    "AmazonEKSWorkerNodePolicy",
    "AmazonEC2ContainerRegistryReadOnly",
    "AmazonSSMManagedInstanceCore",
  ]
  notices = {
    ScheduledChange                 = { source = "aws.health", type = "AWS Health Event" }
    SpotInterruption                = { source = "aws.ec2", type = "EC2 Spot Instance Interruption Warning" }
    Rebalance                       = { source = "aws.ec2", type = "EC2 Instance Rebalance Recommendation" }
    InstanceStateChange             = { source = "aws.ec2", type = "EC2 Instance State-change Notification" }
    CapacityReservationInterruption = { source = "aws.ec2", type = "EC2 Capacity Reservation Instance Interruption Warning" }
  }
}

# Nodes run as this role.
resource "aws_iam_role" "node" {
  name = "KarpenterNodeRole-${var.cluster_name}"
  tags = var.tags
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "ec2.${data.aws_partition.current.dns_suffix}" }
      Action    = "sts:AssumeRole"
    }]
  })
}

resource "aws_iam_role_policy_attachment" "node" {
  for_each   = toset(local.policies)
  role       = aws_iam_role.node.name
  policy_arn = "arn:${local.partition}:iam::aws:policy/${each.value}"
}

# For AWSNodeTemplates and Provisioners, which name a profile.
resource "aws_iam_instance_profile" "node" {
  name = "KarpenterNodeInstanceProfile-${var.cluster_name}"
  role = aws_iam_role.node.name
  tags = var.tags
}

resource "aws_iam_policy" "controller" {
  name = "KarpenterControllerPolicy-${var.cluster_name}"
  tags = var.tags
  policy = templatefile("${path.module}/../iam/controller-policy.json", {
    AWS_PARTITION  = local.partition
    AWS_REGION     = data.aws_region.current.name
    AWS_ACCOUNT_ID = data.aws_caller_identity.current.account_id
    CLUSTER_NAME   = var.cluster_name
  })
}

# The controller's role: through IRSA where an OIDC provider is given, through Pod Identity otherwise.
resource "aws_iam_role" "controller" {
  name = "${var.cluster_name}-karpenter"
  tags = var.tags
  assume_role_policy = var.oidc_provider_arn == "" ? jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Service = "pods.eks.amazonaws.com" }
      Action    = ["sts:AssumeRole", "sts:TagSession"]
    }]
    }) : jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Principal = { Federated = var.oidc_provider_arn }
      Action    = "sts:AssumeRoleWithWebIdentity"
      Condition = { StringEquals = {
        "${local.oidc}:aud" = "sts.amazonaws.com"
        "${local.oidc}:sub" = "system:serviceaccount:${var.namespace}:${var.service_account}"
      } }
    }]
  })
}

resource "aws_iam_role_policy_attachment" "controller" {
  role       = aws_iam_role.controller.name
  policy_arn = aws_iam_policy.controller.arn
}

resource "aws_eks_pod_identity_association" "controller" {
  count           = var.oidc_provider_arn == "" ? 1 : 0
  cluster_name    = var.cluster_name
  namespace       = var.namespace
  service_account = var.service_account
  role_arn        = aws_iam_role.controller.arn
}

# What EC2 has to say of machines that will go.
resource "aws_sqs_queue" "interruption" {
  name                      = var.cluster_name
  message_retention_seconds = 300
  sqs_managed_sse_enabled   = true
  tags                      = var.tags
}

resource "aws_sqs_queue_policy" "interruption" {
  queue_url = aws_sqs_queue.interruption.url
  policy = jsonencode({
    Id      = "EC2InterruptionPolicy"
    Version = "2012-10-17"
    Statement = [
      {
        Sid       = "Send"
        Effect    = "Allow"
        Principal = { Service = ["events.amazonaws.com", "sqs.amazonaws.com"] }
        Action    = "sqs:SendMessage"
        Resource  = aws_sqs_queue.interruption.arn
      },
      {
        Sid       = "DenyWithoutTLS"
        Effect    = "Deny"
        Principal = "*"
        Action    = "sqs:*"
        Resource  = aws_sqs_queue.interruption.arn
        Condition = { Bool = { "aws:SecureTransport" = "false" } }
      },
    ]
  })
}

resource "aws_cloudwatch_event_rule" "notice" {
  for_each      = local.notices
  name_prefix   = substr("Karpenter${each.key}-", 0, 38)
  event_pattern = jsonencode({ source = [each.value.source], "detail-type" = [each.value.type] })
  tags          = var.tags
}

resource "aws_cloudwatch_event_target" "notice" {
  for_each  = aws_cloudwatch_event_rule.notice
  rule      = each.value.name
  target_id = "KarpenterInterruptionQueueTarget"
  arn       = aws_sqs_queue.interruption.arn
}
